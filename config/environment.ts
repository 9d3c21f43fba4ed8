// The environment of the two processes, as names and forms. Only the `main.ts` files read `process.env`; what they pass in
// here comes back typed, or as one error that names every variable at once. Values are never shown: some are secrets, and
// a message that shows the others would have to know which.
import { z } from 'zod';
import { withFiles } from './environment-files.js';

export interface EnvironmentProblem {
  variable: string;
  wrong: string;
  right: string;
}

/** The environment can't be used; the process ends with `EXIT_CONFIGURATION`. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';

  constructor(readonly problems: readonly EnvironmentProblem[]) {
    const lines = problems.map(
      ({ variable, wrong, right }) => `  ${variable} ${wrong}; right would be: ${right}`,
    );
    super(['The environment is not complete:', ...lines].join('\n'));
  }
}

export interface ProcessEnvironment {
  databaseUrl: string;
  temporal: { address: string; namespace: string; uiUrl?: string };
  masterKeyFile: string;
  configDirectory: string;
  logLevel: LogLevel;
  /** Where the secrets lie that configuration names, one file each. Absent: there are none. */
  secretsDirectory?: string;
  /** The Graph API of the WhatsApp platform. Absent: the real one. */
  graphUrl?: string;
  /** Said beside every answer of a model that is not the real one. Absent: nothing needs saying. */
  modelLabel?: string;
  /** Holds the bearer token that opens the metrics, so that whoever collects them needs no other right. */
  metricsTokenFile?: string;
}

export interface WorkerEnvironment extends ProcessEnvironment {
  /** Where the worker tells its health and metrics. Absent: nowhere. */
  health?: { host: string; port: number };
  anthropic: {
    apiKey: string;
    /** Absent: the SDK's own. */
    baseUrl?: string;
  };
}

export interface GatewayEnvironment extends ProcessEnvironment {
  host: string;
  /** 0: any free port. */
  port: number;
  apiTokenFile: string;
  /** A one-time login link is created at start and handed to the parent process. */
  issueLoginLink: boolean;
}

/** What a command of the command line works on. Absent addresses: it looks for a local start instead. */
export interface CommandEnvironment {
  databaseUrl?: string;
  temporal: { address: string; namespace: string; uiUrl?: string };
  /** Absent: commands that read or write content can't. */
  masterKeyFile?: string;
  /** Absent: the folder that comes with the program. */
  configDirectory?: string;
  /** Absent: nothing is known of secrets. */
  secretsDirectory?: string;
  logLevel: LogLevel;
}

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Variables = Record<string, string | undefined>;

const RIGHT = {
  databaseUrl: 'a postgres:// URL of the application role',
  address: 'host:port, such as 127.0.0.1:7233',
  url: 'an http:// or https:// URL',
  file: 'the path of a file',
  directory: 'the path of a directory',
  key: 'a key of the Anthropic API',
  logLevel: `one of ${LOG_LEVELS.join(', ')}`,
  port: 'a port, 0 to 65535',
  flag: '1, or nothing',
  text: 'a text',
} as const;

const text = (right: string): z.ZodString => z.string({ error: right }).trim().min(1, { error: right });
const url = (protocol: RegExp, right: string): z.ZodURL => z.url({ protocol, error: right });

const shared = {
  AROKO_DATABASE_URL: url(/^postgres(ql)?$/, RIGHT.databaseUrl),
  AROKO_TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/:]+:\d{1,5}$|^\[[^\s/]+\]:\d{1,5}$/, { error: RIGHT.address })
    .default('127.0.0.1:7233'),
  AROKO_TEMPORAL_NAMESPACE: text(RIGHT.text).default('default'),
  AROKO_TEMPORAL_UI_URL: url(/^https?$/, RIGHT.url).optional(),
  AROKO_MASTER_KEY_FILE: text(RIGHT.file),
  AROKO_CONFIG_DIR: text(RIGHT.directory).default('./config'),
  AROKO_LOG_LEVEL: z.enum(LOG_LEVELS, { error: RIGHT.logLevel }).default('info'),
  AROKO_MODEL_LABEL: text(RIGHT.text).optional(),
  AROKO_SECRETS_DIR: text(RIGHT.directory).optional(),
  AROKO_GRAPH_URL: url(/^https?$/, RIGHT.url).optional(),
  AROKO_METRICS_TOKEN_FILE: text(RIGHT.file).optional(),
};

const port = z
  .string()
  .regex(/^\d{1,5}$/, { error: RIGHT.port })
  .transform(Number)
  .pipe(z.number().max(65_535, { error: RIGHT.port }));

export const workerVariables = z.object({
  ...shared,
  ANTHROPIC_API_KEY: text(RIGHT.key),
  ANTHROPIC_BASE_URL: url(/^https?$/, RIGHT.url).optional(),
  AROKO_WORKER_HEALTH_HOST: text(RIGHT.text).default('127.0.0.1'),
  AROKO_WORKER_HEALTH_PORT: port.optional(),
});

export const gatewayVariables = z.object({
  ...shared,
  AROKO_GATEWAY_HOST: text(RIGHT.text).default('127.0.0.1'),
  AROKO_GATEWAY_PORT: port.default(3000),
  AROKO_API_TOKEN_FILE: text(RIGHT.file),
  AROKO_ISSUE_LOGIN_LINK: z.literal('1', { error: RIGHT.flag }).optional(),
});

/** The same names as the processes', and none of them has to be set. */
export const commandVariables = z.object({
  AROKO_DATABASE_URL: shared.AROKO_DATABASE_URL.optional(),
  AROKO_TEMPORAL_ADDRESS: shared.AROKO_TEMPORAL_ADDRESS,
  AROKO_TEMPORAL_NAMESPACE: shared.AROKO_TEMPORAL_NAMESPACE,
  AROKO_TEMPORAL_UI_URL: shared.AROKO_TEMPORAL_UI_URL,
  AROKO_MASTER_KEY_FILE: shared.AROKO_MASTER_KEY_FILE.optional(),
  AROKO_CONFIG_DIR: text(RIGHT.directory).optional(),
  AROKO_SECRETS_DIR: text(RIGHT.directory).optional(),
  AROKO_LOG_LEVEL: z.enum(LOG_LEVELS, { error: RIGHT.logLevel }).default('error'),
});

/**
 * The command line's environment.
 *
 * @throws {EnvironmentError} with every variable that is malformed.
 */
export function commandEnvironment(env: Variables): CommandEnvironment {
  const read = parse(commandVariables, env);
  return {
    ...(read.AROKO_DATABASE_URL !== undefined && { databaseUrl: read.AROKO_DATABASE_URL }),
    temporal: {
      address: read.AROKO_TEMPORAL_ADDRESS,
      namespace: read.AROKO_TEMPORAL_NAMESPACE,
      ...(read.AROKO_TEMPORAL_UI_URL !== undefined && { uiUrl: read.AROKO_TEMPORAL_UI_URL }),
    },
    ...(read.AROKO_MASTER_KEY_FILE !== undefined && { masterKeyFile: read.AROKO_MASTER_KEY_FILE }),
    ...(read.AROKO_CONFIG_DIR !== undefined && { configDirectory: read.AROKO_CONFIG_DIR }),
    ...(read.AROKO_SECRETS_DIR !== undefined && { secretsDirectory: read.AROKO_SECRETS_DIR }),
    logLevel: read.AROKO_LOG_LEVEL,
  };
}

/**
 * The worker's environment.
 *
 * @throws {EnvironmentError} with every variable that is missing or malformed.
 */
export function workerEnvironment(env: Variables): WorkerEnvironment {
  const read = parse(workerVariables, env);
  return {
    ...processEnvironment(read),
    anthropic: {
      apiKey: read.ANTHROPIC_API_KEY,
      ...(read.ANTHROPIC_BASE_URL === undefined ? {} : { baseUrl: read.ANTHROPIC_BASE_URL }),
    },
    ...(read.AROKO_WORKER_HEALTH_PORT !== undefined && {
      health: { host: read.AROKO_WORKER_HEALTH_HOST, port: read.AROKO_WORKER_HEALTH_PORT },
    }),
  };
}

/**
 * The gateway's environment.
 *
 * @throws {EnvironmentError} with every variable that is missing or malformed.
 */
export function gatewayEnvironment(env: Variables): GatewayEnvironment {
  const read = parse(gatewayVariables, env);
  return {
    ...processEnvironment(read),
    host: read.AROKO_GATEWAY_HOST,
    port: read.AROKO_GATEWAY_PORT,
    apiTokenFile: read.AROKO_API_TOKEN_FILE,
    issueLoginLink: read.AROKO_ISSUE_LOGIN_LINK === '1',
  };
}

type SharedVariables = Pick<z.infer<typeof workerVariables>, keyof typeof shared>;

function processEnvironment(read: SharedVariables): ProcessEnvironment {
  return {
    databaseUrl: read.AROKO_DATABASE_URL,
    temporal: {
      address: read.AROKO_TEMPORAL_ADDRESS,
      namespace: read.AROKO_TEMPORAL_NAMESPACE,
      ...(read.AROKO_TEMPORAL_UI_URL === undefined ? {} : { uiUrl: read.AROKO_TEMPORAL_UI_URL }),
    },
    masterKeyFile: read.AROKO_MASTER_KEY_FILE,
    configDirectory: read.AROKO_CONFIG_DIR,
    logLevel: read.AROKO_LOG_LEVEL,
    ...(read.AROKO_SECRETS_DIR === undefined ? {} : { secretsDirectory: read.AROKO_SECRETS_DIR }),
    ...(read.AROKO_GRAPH_URL === undefined ? {} : { graphUrl: read.AROKO_GRAPH_URL }),
    ...(read.AROKO_MODEL_LABEL === undefined ? {} : { modelLabel: read.AROKO_MODEL_LABEL }),
    ...(read.AROKO_METRICS_TOKEN_FILE !== undefined && { metricsTokenFile: read.AROKO_METRICS_TOKEN_FILE }),
  };
}

/** An empty variable counts as absent: that is how compose files and shells write "not set". */
function parse<T>(schema: z.ZodType<T> & { shape: object }, env: Variables): T {
  const given = withFiles(env, Object.keys(schema.shape));
  const present = Object.fromEntries(
    Object.entries(given).filter(([, value]) => (value ?? '').trim() !== ''),
  );
  const result = schema.safeParse(present);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue): EnvironmentProblem => {
    const variable = issue.path.join('.');
    const wrong = Object.hasOwn(present, variable) ? 'has the wrong form' : 'is missing';
    return { variable, wrong, right: issue.message };
  });
  // A variable may fail several checks of the same kind; one line about it is enough.
  throw new EnvironmentError([...new Map(problems.map((problem) => [problem.variable, problem])).values()]);
}
