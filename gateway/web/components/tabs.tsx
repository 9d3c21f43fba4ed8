// Which part of a list is shown: links, so that each has an address of its own.

export interface Tab {
  name: string;
  href: string;
  isCurrent: boolean;
}

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, href, isCurrent }) => (
        <a href={href} aria-current={isCurrent ? 'page' : undefined} safe>
          {name}
        </a>
      ))}
    </nav>
  );
}
