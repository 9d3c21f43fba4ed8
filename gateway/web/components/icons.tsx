// A handful of line icons, drawn for this project: 24 by 24, in the colour of the text.

const PATHS = {
  approvals: 'M9 12l2 2 4-4 M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z',
  runs: 'M5 6h14 M5 12h9 M5 18h6 M17 15l4 3-4 3z',
  messages: 'M4 5h16v11H9l-5 4z M8 9h8 M8 12h5',
  chat: 'M4 5h16v11H9l-5 4z',
  controls: 'M4 7h9 M17 7h3 M15 5v4 M4 17h3 M11 17h9 M9 15v4',
  edit: 'M4 20l1-4L16 5l3 3L8 19z M14 7l3 3',
  chats: 'M3 4h12v9H8l-5 4z M18 9h3v11l-4-3h-7v-2',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13 M15.5 15.5L20 20',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8 M4.5 20c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5',
  logout: 'M10 4H5v16h5 M14 8l4 4-4 4 M18 12H9',
  send: 'M4 12l16-8-6 16-3-7z',
  check: 'M5 12l5 5 9-10',
  cross: 'M6 6l12 12 M18 6L6 18',
  clock: 'M12 7v5l3 2 M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18',
  alert: 'M12 4l9 16H3z M12 10v4 M12 17v.5',
  external: 'M14 4h6v6 M20 4l-9 9 M18 14v6H4V6h6',
  back: 'M11 5l-7 7 7 7 M4 12h16',
  down: 'M12 5v14 M5 12l7 7 7-7',
  spark: 'M12 3l2 7 7 2-7 2-2 7-2-7-7-2 7-2z',
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only: the word beside it says the same. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]}></path>
    </svg>
  );
}
