// Lists that are longer than a page: the way to older entries, and back to the newest.
import { Icon } from './icons.js';

export function Paging(props: {
  /** Addresses; absent: there is nothing there. */
  older?: string | undefined;
  newest?: string | undefined;
  olderWord?: string;
  newestWord?: string;
}): JSX.Element {
  const { older, newest, olderWord = 'Older', newestWord = 'Newest' } = props;
  if (older === undefined && newest === undefined) return '';
  return (
    <nav class="paging" aria-label="Pages">
      {newest === undefined ? null : (
        <a href={newest} id="to-newest" class="outward">
          <Icon name="back" />
          <span safe>{newestWord}</span>
        </a>
      )}
      {older === undefined ? null : (
        <a href={older} id="to-older" class="outward">
          <span safe>{olderWord}</span>
          <Icon name="down" />
        </a>
      )}
    </nav>
  );
}

/** An address with its query; what is undefined or empty is left out. */
export function withQuery(path: string, query: Record<string, string | undefined>): string {
  const parameters = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  ).toString();
  return parameters === '' ? path : `${path}?${parameters}`;
}
