// One line of what is known of something: a name and a value.
import type { Children } from '@kitajs/html';

export function Fact({ name, children }: { name: string; children: Children }): JSX.Element {
  return (
    <div>
      <dt safe>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
