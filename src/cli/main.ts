import { keepCompiledCode } from './compiled-code.ts';

keepCompiledCode();
const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  const { readVersion } = await import('../lib/version.ts');
  process.stdout.write(`${readVersion()}\n`);
} else if (argv[0] === 'completion' && argv[1] === '--line') {
  const { completeLine } = await import('./completion/complete-line.ts');
  const words = completeLine(argv[2] ?? '', { cwd: process.cwd(), env: process.env });
  process.stdout.write(words.map((word) => `${word}\n`).join(''));
} else {
  const interrupt = new AbortController();
  process.on('SIGINT', () => (interrupt.signal.aborted ? process.exit(130) : interrupt.abort()));
  process.on('SIGTERM', () => interrupt.abort());
  // A reader that stops reading (`ktx … | head`) is not a failure.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) =>
      process.exit(error.code === 'EPIPE' ? 0 : 1),
    );
  }
  const { runCli } = await import('./run.ts');
  const { stdin, stdout, stderr, env } = process;
  // `npm run` changes to the clone's folder; INIT_CWD is the folder that the command was typed in.
  const initialDir = env['npm_lifecycle_event'] === 'ktx' ? env['INIT_CWD'] : undefined;
  const exitCode = await runCli(argv, {
    stdin,
    stdout,
    stderr,
    env,
    cwd: initialDir ?? process.cwd(),
    signal: interrupt.signal,
  });
  await Promise.all([stdout, stderr].map(flush));
  process.exit(exitCode);
}

/** When all that was written has been handed over. */
function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write('', () => resolve()));
}
