// An installation as a person starts it, whose WhatsApp number is answered by a Graph server that isn't the platform's: both
// ways go over HTTP, signed, and the configuration is in files.
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { projectRoot } from '../../local/child.js';
import { eventually } from '../support/api-client.js';
import { startFakeGraph, type FakeGraph, type TakenSend } from '../support/graph/server.js';
import { newWamid } from '../support/graph/webhooks.js';
import { startInstallation, type Installation } from '../support/installation.js';

const TENANT = 'harbour-desk';
export const ACCOUNT = { accountKey: '100000000000009', displayNumber: '15550109000' };
export const OWNER = '15550109001';
export const DOCTOR = '15550109002';
export const TOOL = 'ask_a_doctor';

export interface WhatsappDesk {
  installation: Installation;
  graph: FakeGraph;
  /** Somebody sends something; answers the id of the message. `what`: its fields on the wire, `type` among them. */
  write(from: string, what: string | Record<string, unknown>, quoted?: string): Promise<string>;
  /** Somebody writes from the shop's own phone. */
  echo(to: string, body: string): Promise<string>;
  /** Waits for what the Graph server took for somebody. */
  hears(to: string, text: string | RegExp): Promise<TakenSend>;
  /** What it took for somebody, as it was put to it. */
  bodies(to: string): string[];
  stop(): Promise<void>;
}

export async function startWhatsappDesk(): Promise<WhatsappDesk> {
  const folder = mkdtempSync(join(tmpdir(), 'aroko-whatsapp-'));
  const secrets = { token: random(), secret: random(), verify: random() };
  const running: { installation?: Installation } = {};
  const graph = await startFakeGraph({
    numbers: [ACCOUNT],
    token: secrets.token,
    keepsWindow: true,
    webhook: {
      appSecret: secrets.secret,
      // Known only once the gateway has a port.
      get url() {
        const chat = running.installation?.facts().addresses.chat ?? 'http://127.0.0.1:9/';
        return `${chat.replace(/\/$/, '')}/webhooks/whatsapp/{account}`;
      },
    },
    statuses: { statuses: ['sent', 'delivered', 'read'], delayMs: [0, 50], isShuffled: true, copies: 2 },
  });
  mkdirSync(join(folder, 'secrets'), { mode: 0o700 });
  for (const [name, value] of Object.entries(secrets))
    writeFileSync(join(folder, 'secrets', `whatsapp-${name}`), value, { mode: 0o600 });
  writeConfiguration(join(folder, 'config'));
  const started = await startInstallation({
    modelMode: 'scenario',
    givesWay: true,
    environment: {
      AROKO_CONFIG_DIR: join(folder, 'config'),
      AROKO_SECRETS_DIR: join(folder, 'secrets'),
      AROKO_GRAPH_URL: graph.url,
    },
  });
  running.installation = started;

  const ofPerson = (to: string): TakenSend[] => graph.taken().filter(({ recipient }) => recipient === to);
  async function told(status: number, what: string): Promise<void> {
    if (status !== 200) throw new Error(`the gateway answered ${status} to ${what}`);
  }
  return {
    installation: started,
    graph,
    async write(from, what, quoted) {
      if (typeof what === 'string') {
        const { wamid, status } = await graph.customerWrites({
          from,
          body: what,
          ...(quoted !== undefined && { quoted }),
        });
        await told(status, 'a message');
        return wamid;
      }
      const id = newWamid();
      const message = { from, id, timestamp: seconds(), ...what };
      const contacts = [{ profile: { name: 'Somebody' }, wa_id: from }];
      await told(await graph.webhooks.tell(ACCOUNT, { contacts, messages: [message] }), 'a message');
      return id;
    },
    async echo(to, body) {
      const id = newWamid();
      const echo = {
        from: ACCOUNT.displayNumber,
        to,
        id,
        timestamp: seconds(),
        type: 'text',
        text: { body },
      };
      const status = await graph.webhooks.tell(ACCOUNT, { message_echoes: [echo] }, 'smb_message_echoes');
      await told(status, 'an echo');
      return id;
    },
    async hears(to, text) {
      const heard = (): TakenSend | undefined => ofPerson(to).find((send) => fits(bodyOf(send), text));
      return eventually(`${to} to hear ${String(text)}`, heard, 60_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; heard:\n${ofPerson(to).map(bodyOf).join('\n')}`);
      });
    },
    bodies: (to) => ofPerson(to).map(bodyOf),
    async stop() {
      await started.stop();
      await graph.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function bodyOf({ request }: TakenSend): string {
  return JSON.stringify(request);
}

function fits(body: string, text: string | RegExp): boolean {
  return typeof text === 'string' ? body.includes(text) : text.test(body);
}

function random(): string {
  return randomBytes(16).toString('hex');
}

function seconds(): string {
  return String(Math.floor(Date.now() / 1000));
}

/** The shipped business with a number, an owner and a doctor on WhatsApp, and a tool that asks the doctor without a yes. */
function writeConfiguration(directory: string): void {
  cpSync(join(projectRoot, 'config'), directory, { recursive: true });
  const tenant = join(directory, 'tenants', TENANT);
  change(join(tenant, 'business.yaml'), (file) => ({
    ...Object(file),
    channels: {
      ...section(file, 'channels'),
      whatsapp: [
        {
          accountKey: ACCOUNT.accountKey,
          displayNumber: `+${ACCOUNT.displayNumber}`,
          profile: 'instant',
          accessToken: 'whatsapp-token',
          appSecrets: ['whatsapp-secret'],
          verifyToken: 'whatsapp-verify',
          templates: { operatorRequest: { name: 'operator_request', language: 'en' } },
        },
      ],
    },
    owners: [{ id: 'boss', name: 'The Owner', addresses: { whatsapp: [`+${OWNER}`] } }],
    operators: [{ id: 'ayla', name: 'Ayla', addresses: { whatsapp: [`+${DOCTOR}`] } }],
  }));
  const defaults: unknown = parse(readFileSync(join(directory, 'defaults', 'policy.yaml'), 'utf8'));
  const { rules } = section(defaults, 'policy');
  change(join(tenant, 'policy.yaml'), (file) => ({
    policy: {
      ...section(file, 'policy'),
      rules: [
        { name: 'forwarding-is-free', when: { tools: [TOOL] }, then: 'allow' },
        ...(Array.isArray(rules) ? rules : []),
      ],
    },
  }));
  const text = { type: 'string', minLength: 1, maxLength: 500 };
  change(join(tenant, 'tools.yaml'), (file) => ({
    providers: { ...section(file, 'providers'), operators: { media: 3, messages: 10 } },
    tools: {
      ...section(file, 'tools'),
      [TOOL]: {
        provider: 'operators',
        operation: 'forwardToOperator',
        description: 'Asks a doctor of the practice.',
        whenToUse: 'The patient wants a doctor to be asked something.',
        whenNotToUse: 'The patient only chats.',
        aliases: ['doctor'],
        triggerPhrases: ['ask the doctor', 'please ask the doctor'],
        tags: ['doctor'],
        examples: ['Please ask the doctor whether I may swim'],
        effect: 'reversible',
        risk: 'low',
        actors: ['customer'],
        chatKinds: ['direct'],
        privateData: false,
        inputSchema: {
          type: 'object',
          properties: { question: text },
          required: ['question'],
          additionalProperties: false,
        },
        outputSchema: {
          type: 'object',
          properties: { reference: text, operator: text, until: text, summary: text },
          required: ['reference', 'operator', 'until', 'summary'],
          additionalProperties: false,
        },
        timeoutMs: 5_000,
        asyncEligible: false,
      },
    },
  }));
}

function change(file: string, to: (content: unknown) => Record<string, unknown>): void {
  writeFileSync(file, stringify(to(parse(readFileSync(file, 'utf8')))));
}

function section(file: unknown, name: string): Record<string, unknown> {
  return Object(Reflect.get(Object(file), name));
}
