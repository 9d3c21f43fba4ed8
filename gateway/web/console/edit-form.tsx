// A request as a form: one field for each argument that may be changed, made by the tool's schema.
import type { ApprovalView } from '../../../prisma/stores/views/approvals.js';
import type { ToolDefinition } from '../../../workflows/domain/tool.js';
import { Arguments } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { Visible } from '../components/visible.js';
import { fits, inputName, type Field, type Fields } from './edit-fields.js';

export interface EditFormProps {
  approval: ApprovalView;
  tool: ToolDefinition;
  fields: Fields;
  csrfToken: string;
  /** What was typed before; absent: nothing was. */
  texts?: Record<string, string>;
  /** Why the change wasn't made, in one sentence. */
  problem?: string;
  /** The same beside the fields, by name. */
  findings?: ReadonlyMap<string, string>;
}

export function EditForm(props: EditFormProps): JSX.Element {
  const {
    approval,
    tool,
    fields,
    csrfToken,
    texts = {},
    problem,
    findings = new Map<string, string>(),
  } = props;
  const address = `/console/approvals/${approval.approvalId}`;
  return (
    <form
      id="edit"
      class="card edit"
      method="post"
      action={`${address}/edit`}
      hx-post={`${address}/edit`}
      hx-target="#edit"
      hx-swap="outerHTML"
      hx-disabled-elt="find button"
      tabindex="-1"
    >
      <input type="hidden" name="_csrf" value={csrfToken} />
      {problem === undefined ? null : (
        <p class="banner bad" role="alert" id="edit-problem">
          <Icon name="alert" />
          <span safe>{problem}</span>
        </p>
      )}
      {fields.fields.map((field) => (
        <FieldOf field={field} text={texts[field.name] ?? field.text} finding={findings.get(field.name)} />
      ))}
      {fields.fields.length === 0 ? <p class="quiet">Nothing of this request can be changed.</p> : null}
      {Object.keys(fields.fixed).length > 0 ? (
        <section aria-labelledby="fixed">
          <h2 id="fixed">Stays as it is</h2>
          <Arguments values={fields.fixed} tool={tool} />
        </section>
      ) : null}
      <p class="quiet">
        The changed request asks once more, under a REF of its own, and needs a yes of its own. Nobody’s yes
        goes over to it.
      </p>
      <footer class="edit-buttons">
        {fields.fields.length > 0 ? (
          <button type="submit" id="save">
            Ask with this instead
          </button>
        ) : null}
        <a href={address} id="cancel-edit" class="cancel">
          Leave it as it is
        </a>
      </footer>
    </form>
  );
}

function FieldOf(props: { field: Field; text: string; finding: string | undefined }): JSX.Element {
  const { field, text, finding } = props;
  const id = `field-${field.name}`;
  return (
    <div class="field">
      <label for={id}>
        <span safe>{field.label}</span>
        {field.isRequired ? (
          <span class="required" title="The tool needs it">
            {' '}
            needed
          </span>
        ) : null}
        <code class="quiet" safe>
          {field.name}
        </code>
      </label>
      <Input field={field} text={text} isWrong={finding !== undefined} />
      {finding === undefined ? null : (
        <p class="finding" id={`${id}-finding`}>
          <Icon name="alert" />
          <span safe>{finding}</span>
        </p>
      )}
      <Hidden text={text} />
      {field.hint === undefined ? null : (
        <p class="quiet hint" id={`${id}-hint`} safe>
          {field.hint}
        </p>
      )}
    </div>
  );
}

/** A browser's own field doesn't show what hides or reorders; the same text below it does. */
function Hidden({ text }: { text: string }): JSX.Element {
  if (!HIDES.test(text)) return '';
  return (
    <p class="hint">
      <span class="quiet">Holds hidden characters: </span>
      <Visible text={text} />
    </p>
  );
}

/** Line ends and tabs show in a field by what they do. */
const HIDES = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\u{115F}\u{1160}\u{3164}\u{FFA0}]/u;

function Input({ field, text, isWrong }: { field: Field; text: string; isWrong: boolean }): JSX.Element {
  const { control, isRequired } = field;
  const id = `field-${field.name}`;
  const describedBy = [isWrong ? `${id}-finding` : '', field.hint === undefined ? '' : `${id}-hint`]
    .join(' ')
    .trim();
  const shared = {
    id,
    name: inputName(field),
    required: isRequired,
    'aria-invalid': isWrong ? ('true' as const) : undefined,
    'aria-describedby': describedBy === '' ? undefined : describedBy,
  };
  switch (control.kind) {
    case 'choice':
      return (
        <select {...shared}>
          {isRequired ? null : (
            <option value="" selected={text === ''}>
              (left out)
            </option>
          )}
          {control.options.map(({ value, word }) => (
            <option value={value} selected={value === text} safe>
              {word}
            </option>
          ))}
        </select>
      );
    case 'lines':
    case 'json':
      return (
        <textarea
          {...shared}
          rows={String(Math.min(10, Math.max(3, text.split('\n').length)))}
          maxlength={control.kind === 'lines' ? control.maxLength : undefined}
          class={control.kind === 'json' ? 'json' : undefined}
          spellcheck={control.kind === 'json' ? 'false' : undefined}
          safe
        >
          {/* HTML drops a line's end right after the tag. */ `\n${text}`}
        </textarea>
      );
    case 'number': {
      const { isWhole, least, most } = control;
      return (
        <input
          {...shared}
          type="text"
          inputmode={isWhole && (least ?? -1) >= 0 ? 'numeric' : 'decimal'}
          value={text}
          autocomplete="off"
          data-most={most === undefined ? undefined : String(most)}
        />
      );
    }
    case 'date':
    case 'time':
      // What such a field can't show would be gone from it.
      return <input {...shared} type={fits(control.kind, text) ? control.kind : 'text'} value={text} />;
    case 'line':
      return (
        <input
          {...shared}
          type={control.type}
          value={text}
          maxlength={control.maxLength}
          autocomplete="off"
          dir="auto"
        />
      );
  }
}
