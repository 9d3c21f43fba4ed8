// A practice with two doctors and one number: what questions to operators are tested on.
import type { TenantConfiguration } from '../../../config/configuration.js';

export const ACCOUNT = '100000000000007';
export const TOKEN = 'good-token';
export const DOCTORS = { ayla: '15550107002', ben: '15550107003' } as const;
export type DoctorId = keyof typeof DOCTORS;
export const TOOL = 'ask_a_doctor';

/** The shipped business as a practice, with a tool that forwards without anybody's yes. */
export function practice(shipped: TenantConfiguration): TenantConfiguration {
  const [like] = shipped.tools;
  if (!like) throw new Error('the shipped configuration has no tool');
  const text = { type: 'string', minLength: 1, maxLength: 500 };
  return {
    ...shipped,
    operators: [
      { id: 'ayla', name: 'Ayla', addresses: { whatsapp: [`+${DOCTORS.ayla}`] } },
      { id: 'ben', name: 'Ben', addresses: { whatsapp: [`+${DOCTORS.ben}`] } },
    ],
    providers: { ...shipped.providers, operators: { media: 3, messages: 10 } },
    policy: {
      ...shipped.policy,
      rules: [
        { name: 'forwarding-is-free', when: { tools: [TOOL] }, then: 'allow' },
        ...shipped.policy.rules,
      ],
    },
    tools: [
      ...shipped.tools,
      {
        ...like,
        name: TOOL,
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
          properties: { question: text, operator: { type: 'string', enum: ['ayla', 'ben'] } },
          required: ['question'],
          additionalProperties: false,
        },
        outputSchema: {
          type: 'object',
          properties: { reference: text, operator: text, until: text, summary: text },
          required: ['reference', 'operator', 'until', 'summary'],
          additionalProperties: false,
        },
        managedFields: [],
        secretFields: [],
        timeoutMs: 5_000,
      },
    ],
    channels: {
      ...shipped.channels,
      whatsapp: [
        {
          accountKey: ACCOUNT,
          displayNumber: '+15550107000',
          profile: 'instant',
          graphVersion: 'v25.0',
          messagesPerSecond: 80,
          accessToken: 'token',
          appSecrets: ['secret'],
          verifyToken: 'verify',
          templates: { operatorRequest: { name: 'operator_request', language: 'en' } },
        },
      ],
    },
  };
}
