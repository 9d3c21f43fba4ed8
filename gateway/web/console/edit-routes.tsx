// Changing a request: the form, and what came of it. The one function that takes changes from every surface decides.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { listApprovals, type ApprovalView } from '../../../prisma/stores/views/approvals.js';
import type { ToolDefinition } from '../../../workflows/domain/tool.js';
import { editInWords, type EditResult } from '../../decisions.js';
import type { RouteDeps } from '../../deps.js';
import { parsed, Problem } from '../../problems.js';
import { propertyOf, titleOf } from '../components/arguments.js';
import { Icon } from '../components/icons.js';
import { approvalKey } from './approval-routes.js';
import { isWaiting } from './approvals.js';
import { fieldsOf, findingInWords, formOf, readForm, type Typed } from './edit-fields.js';
import { EditForm, type EditFormProps } from './edit-form.js';
import type { Pages } from './pages.js';
import { ownerOf } from './session.js';
import { PageHead } from './shell.js';

interface Editable {
  approval: ApprovalView;
  tool: ToolDefinition;
  values: NonNullable<ApprovalView['arguments']>;
}

export function editRoutes(app: FastifyInstance, deps: RouteDeps, pages: Pages): void {
  const { desk, inDesk, decisions } = deps;
  const { active, clock, send, sendPage } = pages;

  /** Undefined: there is nothing to change, or not any more; the request's own page says why. */
  async function editableOf(id: string): Promise<Editable | undefined> {
    const { now, timeZone } = clock();
    const [approval] = await inDesk((scope) =>
      listApprovals(scope, { filter: { approvalId: id }, limit: 1, now }),
    );
    if (!approval) throw new Problem(404, 'not_found', 'There is no such request.');
    const tool = active().tools.find(({ name, enabled }) => enabled && name === approval.tool);
    const values = approval.arguments;
    if (!tool || !values || approval.gate !== 'approve') return undefined;
    return isWaiting(approval, { now, timeZone }) ? { approval, tool, values } : undefined;
  }

  const formFor = (
    reply: FastifyReply,
    { approval, tool, values }: Editable,
    tried: Pick<EditFormProps, 'texts' | 'problem' | 'findings'> = {},
  ): JSX.Element => (
    <EditForm
      approval={approval}
      tool={tool}
      fields={fieldsOf(tool, values)}
      csrfToken={reply.generateCsrf()}
      {...tried}
    />
  );

  const pageOf = ({ approval }: Editable, safePart: JSX.Element) => ({
    title: `Change ${approval.ref}`,
    at: 'approvals' as const,
    head: (
      <PageHead title={`Change ${approval.ref}`} about={titleOf(approval.tool)}>
        <a href={`/console/approvals/${approval.approvalId}`} class="back">
          <Icon name="back" />
          <span>Back to the request</span>
        </a>
      </PageHead>
    ),
    part: safePart,
  });

  app.get('/console/approvals/:id/edit', async (request, reply) => {
    const { id } = parsed(approvalKey, request.params, 'The address');
    const editable = await editableOf(id);
    if (!editable) return reply.redirect(`/console/approvals/${id}`, 303);
    return sendPage(request, reply, pageOf(editable, formFor(reply, editable)));
  });

  app.post('/console/approvals/:id/edit', { preHandler: app.csrfProtection }, async (request, reply) => {
    const { id } = parsed(approvalKey, request.params, 'The address');
    const isPart = request.headers['hx-request'] === 'true';
    const goTo = (approvalId: string) => {
      const address = `/console/approvals/${approvalId}`;
      return isPart ? reply.header('hx-redirect', address).code(204).send() : reply.redirect(address, 303);
    };
    const editable = await editableOf(id);
    // What became of it meanwhile is on its page.
    if (!editable) return goTo(id);
    const { approval, tool, values } = editable;
    const typed = readForm(fieldsOf(tool, values), values, formOf(request.body));
    const tried =
      typed.unreadable.length > 0
        ? unreadableIn(typed, approval.ref)
        : triedOf(
            await decisions.editApproval({
              tenantId: desk.tenantId,
              key: { approvalId: id },
              approver: { surface: 'console', id: ownerOf(request).ownerId },
              change: { kind: 'arguments', arguments: typed.values },
            }),
            { typed, approval, tool },
          );
    if ('editedAs' in tried) return goTo(tried.editedAs);
    const safeForm = formFor(reply, editable, tried);
    if (isPart) return send(reply, safeForm);
    return sendPage(request, reply.code(422), pageOf(editable, safeForm));
  });
}

type Tried = Required<Pick<EditFormProps, 'texts' | 'problem' | 'findings'>>;

function unreadableIn({ texts, unreadable }: Typed, ref: string): Tried {
  const findings = new Map(unreadable.map((name) => [name, 'This has to be JSON, and isn’t.']));
  return { texts, problem: `${ref} stays as it is.`, findings };
}

function triedOf(
  result: EditResult,
  { typed, approval, tool }: { typed: Typed; approval: ApprovalView; tool: ToolDefinition },
): Tried | { editedAs: string } {
  if (result.outcome === 'edited') return { editedAs: result.newApprovalId };
  const findings =
    result.outcome === 'not_changed'
      ? result.findings.map((one): [string, string] => [
          one.name,
          findingInWords(one, propertyOf(tool, one.name)),
        ])
      : [];
  return { texts: typed.texts, problem: editInWords(result, approval.ref), findings: new Map(findings) };
}
