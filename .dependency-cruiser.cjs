// Which room may know which (docs/architecture.md). The arrows are listed as what a room may import; what isn't listed is refused.

const ROOMS = '^(workflows|activities|worker|gateway|prisma|config|local|bench|test)/';
const TEMPORAL_WORKFLOW = '(^|/)node_modules/@temporalio/workflow/';
const TEMPORAL_COMMON = '(^|/)node_modules/@temporalio/common/';

/** A room's arrows: of our own rooms it imports itself and these. */
const arrows = (room, allowed, comment) => ({
  name: `arrows-of-${room}`,
  comment,
  severity: 'error',
  from: { path: `^${room}/` },
  to: { path: ROOMS, pathNot: [`^${room}/`, ...allowed] },
});

module.exports = {
  forbidden: [
    {
      name: 'law-of-workflows',
      comment:
        'workflows/ runs in the sandbox and is replayed: it imports nothing outside itself but @temporalio/workflow and types of @temporalio/common.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { pathNot: ['^workflows/', TEMPORAL_WORKFLOW, TEMPORAL_COMMON] },
    },
    {
      name: 'law-of-workflows-types',
      comment:
        'Of @temporalio/common workflows/ takes types only; what it needs at run time @temporalio/workflow exports.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: TEMPORAL_COMMON, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-is-pure',
      comment: 'workflows/domain/ is shared with every room: it knows nothing, not even Temporal.',
      severity: 'error',
      from: { path: '^workflows/domain/' },
      to: { pathNot: '^workflows/domain/' },
    },
    {
      name: 'contracts-only',
      comment:
        'From outside, a workflow is its contract: signals and input. State and code are its own business.',
      severity: 'error',
      from: { pathNot: '^(workflows|test|bench)/' },
      to: { path: '^workflows/(conversation|tool-run)/', pathNot: '/contract\\.ts$' },
    },
    arrows(
      'gateway',
      ['^activities/delivery/', '^activities/approvals/', '^prisma/', '^config/', '^workflows/'],
      'The gateway never runs a step. What an owner says about one is decided in the same way everywhere.',
    ),
    arrows('worker', ['^activities/', '^prisma/', '^config/', '^workflows/'], 'The worker knows no surface.'),
    arrows('activities', ['^prisma/', '^config/', '^workflows/'], 'Activities know no process.'),
    {
      ...arrows(
        'prisma',
        ['^workflows/domain/'],
        'The only room that knows SQL speaks the words of the domain.',
      ),
      // A command that prepares a database is started with an environment like the processes.
      from: { path: '^prisma/', pathNot: '-main\\.ts$' },
    },
    arrows('config', ['^workflows/domain/'], 'Configuration speaks the words of the domain.'),
    arrows(
      'local',
      ['^activities/', '^prisma/', '^config/', '^workflows/'],
      'The embedded default starts worker and gateway as processes; it never reaches into them.',
    ),
    {
      name: 'mains-are-started',
      comment: 'A main.ts is a composition root: it is started, not imported.',
      severity: 'error',
      from: {},
      to: { path: '(^|/|-)main\\.ts$', pathNot: 'node_modules' },
    },
    {
      name: 'sql-stays-in-prisma',
      comment:
        'Only prisma/ speaks to Postgres; gateway/changes.ts listens for notifications, which Prisma can not.',
      severity: 'error',
      from: { path: ROOMS, pathNot: ['^prisma/', '^gateway/changes\\.ts$', '^test/'] },
      to: { path: ['(^|/)node_modules/pg/', '(^|/)node_modules/@prisma/', '^prisma/generated/'] },
    },
    {
      name: 'no-circular',
      comment: 'Two files that need each other are one idea in two places. Types count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nobody imports and nobody starts is dead.',
      severity: 'error',
      from: {
        orphan: true,
        path: ROOMS,
        pathNot: [
          '\\.d\\.ts$',
          '(^|/|-)main\\.ts$',
          '^prisma/generate\\.js$',
          '^gateway/web/assets/',
          '^test/',
        ],
      },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere fails at run time.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared',
      comment: 'What is imported is a dependency of ours, not by luck one of a dependency.',
      severity: 'error',
      from: { path: ROOMS },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'undetermined'] },
    },
    {
      name: 'no-dev-dependencies',
      comment: 'What runs in production is a dependency, also where tests use it too.',
      severity: 'error',
      from: { path: ROOMS, pathNot: '^(test|bench)/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^prisma/generated/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    detectJSDocImports: false,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    skipAnalysisNotInRules: true,
  },
};
