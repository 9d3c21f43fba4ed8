// The one WhatsApp number of the tests.
import type { WhatsappAccount } from '../../../config/configuration.js';

export const ACCOUNT: WhatsappAccount = {
  accountKey: '100000000000002',
  displayNumber: '+905550001122',
  profile: 'instant',
  graphVersion: 'v25.0',
  messagesPerSecond: 1_000,
  accessToken: 'wa-token',
  appSecrets: ['wa-app-secret'],
  verifyToken: 'wa-verify',
  templates: {},
};
