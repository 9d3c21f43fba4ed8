// The command line behind `npm run aroko`.
import { runCommand } from './run.js';

// Prisma asks pg for two things at once and pg announces that it won't take that for ever: nothing for who typed a command.
process.noDeprecation = true;
// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', () => process.exit(0));
process.exitCode = await runCommand({
  args: process.argv.slice(2),
  variables: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
});
