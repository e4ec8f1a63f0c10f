import { runCli } from './run.ts';
import { readVersion } from './version.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 10)) {
  process.stderr.write(`ktx needs Node.js 24.10 or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${readVersion()}\n`);
} else {
  const interrupt = new AbortController();
  process.on('SIGINT', () => (interrupt.signal.aborted ? process.exit(130) : interrupt.abort()));
  process.on('SIGTERM', () => interrupt.abort());
  // A reader that goes away (`ktx … | head`) is no failure.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  }
  process.exitCode = await runCli(argv, {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: interrupt.signal,
  });
}
