// Six ways to get an approval wrong, as somebody might write them, and the test that has to notice each. A rule that is held in
// several places is planted in all of them: one of them alone changes nothing, which is what the others are there for.

export interface Bug {
  name: string;
  /** Texts that stand in a file exactly once, and what stands there with the bug. */
  plant: readonly { file: string; was: string; is: string }[];
  /** The one that catches it: its file, and its title without those of the blocks around it. */
  caughtBy: { file: string; title: string };
}

const CLAIM = 'activities/execution/claim-step.ts';
const YES = 'activities/execution/yes.ts';
const STORE = 'prisma/stores/approvals.ts';
const TABLE = 'workflows/domain/approval.ts';
const CLOUD = 'gateway/whatsapp-cloud/normalize.ts';
const EXECUTE_TEST = 'test/activities/execute.test.ts';

export const BUGS: readonly Bug[] = [
  {
    name: 'skips the approval check',
    plant: [
      {
        file: CLAIM,
        was: "const needsYes = policy.gate !== 'allow' || step.gate !== 'allow';",
        is: 'const needsYes = false;',
      },
    ],
    caughtBy: { file: EXECUTE_TEST, title: 'refuses without a yes' },
  },
  {
    name: 'accepts a used one',
    plant: [
      { file: YES, was: "state: 'approved',", is: "state: { in: ['approved', 'used'] }," },
      { file: STORE, was: "and a.state = 'approved' and", is: "and a.state in ('approved', 'used') and" },
    ],
    caughtBy: { file: EXECUTE_TEST, title: 'refuses a yes that was used' },
  },
  {
    name: 'ignores the hash',
    plant: [
      {
        file: CLAIM,
        was: 'if (hashOfCall(step.tool, step.arguments) !== step.argumentsHash)',
        is: "if (hashOfCall(step.tool, step.arguments) === '')",
      },
      { file: YES, was: 'argumentsHash: step.argumentsHash,', is: '' },
      {
        file: STORE,
        was: 'and a.arguments_hash = ${argumentsHash} and',
        is: "and ${argumentsHash} <> '' and",
      },
    ],
    caughtBy: { file: EXECUTE_TEST, title: 'refuses a yes for other arguments' },
  },
  {
    name: 'approves by display name',
    plant: [
      {
        file: CLOUD,
        was: 'personOf: createPeople(business),',
        is: 'personOf: createPeople(business), owners: business.owners,',
      },
      {
        file: CLOUD,
        was: 'return phone && tools.personOf(phone.address);',
        is: [
          'const namesake = tools.owners.find(({ name }) => name === sender?.profileName);',
          'return namesake ? `owner:${namesake.id}` : phone && tools.personOf(phone.address);',
        ].join('\n'),
      },
    ],
    caughtBy: {
      file: 'test/gateway/whatsapp-cloud/messages.test.ts',
      title: 'are theirs by their verified number, not by what they say or are called',
    },
  },
  {
    name: 'decides the latest that is open instead of the REF',
    plant: [
      {
        file: STORE,
        was: "...('ref' in key ? { ref: key.ref } : { id: key.approvalId }),",
        is: "state: 'open',",
      },
    ],
    caughtBy: {
      file: 'test/activities/approvals/decide.test.ts',
      title: 'is of the request that is named, whichever was asked last',
    },
  },
  {
    name: 'executes on a no',
    plant: [
      {
        file: TABLE,
        was: "return { outcome: 'decided', state: 'rejected' };",
        is: "return { outcome: 'decided', state: 'approved' };",
      },
      { file: YES, was: "where: { decision: 'approve' }", is: '' },
      { file: STORE, was: "and d.decision = 'approve')", is: ')' },
    ],
    caughtBy: { file: EXECUTE_TEST, title: 'refuses after a no' },
  },
];
