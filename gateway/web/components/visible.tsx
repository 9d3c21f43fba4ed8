// Text of strangers as elements: what hides or reorders other characters is marked.
import { piecesOf } from '../../../workflows/domain/visible-text.js';

/** The text, isolated from the direction of what stands around it. */
export function Visible({ text }: { text: string }): JSX.Element {
  return (
    <bdi class="visible">
      {piecesOf(text).map(({ text: shown, codePoint }) =>
        codePoint === undefined ? (
          <span safe>{shown}</span>
        ) : (
          <mark class="hidden-character" title={codePoint} safe>
            {shown}
          </mark>
        ),
      )}
    </bdi>
  );
}

/** Text that may have been erased. */
export function TextOrErased({ text }: { text: string | undefined }): JSX.Element {
  if (text === undefined) return <em class="quiet">erased</em>;
  return <Visible text={text} />;
}
