import { defineConfig } from 'prisma/config';

// `generate` and `format` are the only commands of Prisma's that this project uses; migrations have a runner of their
// own (prisma/migrate.ts), because Prisma's wants to download an engine.
export default defineConfig({ schema: 'prisma/schema.prisma' });
