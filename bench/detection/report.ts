// Figures by name: printed as a table, written as the JSON that all bench commands share.

export interface Report {
  /** `count`: how many cases stand behind it. */
  add(name: string, value: number, count: number): void;
  /** @throws Error when there is no such figure. */
  figure(name: string): number;
  print(): void;
  write(write: (json: string) => void): void;
}

export function createReport(): Report {
  const figures = new Map<string, { value: number; count: number }>();
  return {
    add: (name, value, count) => void figures.set(name.replace(/\.json/, ''), { value, count }),
    figure(name) {
      const known = figures.get(name);
      if (!known) throw new Error(`no figure "${name}"`);
      return known.value;
    },
    print() {
      for (const [name, { value, count }] of figures) {
        const shown = name.startsWith('ms_') ? `${value.toFixed(3)} ms` : `${(value * 100).toFixed(2)} %`;
        console.log(`${name.padEnd(64)} ${shown.padStart(10)}  of ${count}`);
      }
    },
    write(write) {
      const values = Object.fromEntries([...figures].map(([name, { value }]) => [name, value]));
      const counts = Object.fromEntries([...figures].map(([name, { count }]) => [name, count]));
      write(`${JSON.stringify({ figures: values, counts }, undefined, 2)}\n`);
    },
  };
}
