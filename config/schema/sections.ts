// The sections of a tenant's configuration. Each stands as a top-level key in any one YAML file of a layer.
import { z } from 'zod';
import { assistant, business, channels, forwarding, operators, owners, shift } from './business.js';
import { detection, limits, models, profiles } from './limits.js';
import { phraseBook } from './phrases.js';
import { policy } from './policy.js';
import { providers } from './providers.js';
import { scrubbing } from './scrubbing.js';
import { systemMessages } from './system-messages.js';
import { tools } from './tools.js';
import { language } from './values.js';

export const SECTIONS = {
  business,
  assistant,
  profiles,
  models,
  limits,
  detection,
  policy,
  scrubbing,
  tools,
  providers,
  channels,
  owners,
  operators,
  forwarding,
  shift,
  phrases: z.record(language, phraseBook),
  systemMessages,
} as const;

export type SectionName = keyof typeof SECTIONS;
export type Sections = { [Name in SectionName]: z.infer<(typeof SECTIONS)[Name]> };
/** What could be read; a section with a problem is absent. */
export type ReadSections = { [Name in SectionName]?: Sections[Name] | undefined };
