import { enableCompileCache } from 'node:module';

// What loads from here on is compiled once a machine.
enableCompileCache();
const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  const { readVersion } = await import('../lib/version.ts');
  process.stdout.write(`${readVersion()}\n`);
} else if (argv[0] === 'completion' && argv[1] === '--line') {
  const { complete } = await import('./completion/complete.ts');
  process.stdout.write(
    complete(argv[2] ?? '', { cwd: process.cwd(), env: process.env })
      .map((word) => `${word}\n`)
      .join(''),
  );
} else {
  const interrupt = new AbortController();
  process.on('SIGINT', () => (interrupt.signal.aborted ? process.exit(130) : interrupt.abort()));
  process.on('SIGTERM', () => interrupt.abort());
  // A reader that goes away (`ktx … | head`) is no failure.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) =>
      process.exit(error.code === 'EPIPE' ? 0 : 1),
    );
  }
  const { runCli } = await import('./run.ts');
  const { stdin, stdout, stderr, env } = process;
  // `npm run` moves to the clone; what is typed is about the folder that it was typed in.
  const typedIn = env['npm_lifecycle_event'] === 'ktx' ? env['INIT_CWD'] : undefined;
  process.exitCode = await runCli(argv, {
    stdin,
    stdout,
    stderr,
    env,
    cwd: typedIn ?? process.cwd(),
    signal: interrupt.signal,
  });
}
