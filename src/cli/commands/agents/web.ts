import { basename, resolve } from 'node:path';
import { formatCount } from '../../../lib/format-count.ts';
import { appendToLog } from '../../../store/log.ts';
import { defineCommand, type CommandContext, type CommandResult } from '../../command.ts';
import { parsePort } from '../../flags/parse-port.ts';

const defaultPort = 7879;

export const webCommand = defineCommand({
  description:
    'Shows the project in a browser: what waits for a decision with the numbers and the lines behind it, the graph of joins, ' +
    'datasets and metrics, search, evals, cost. Every page shows what a command prints with --json, and every decision is the ' +
    'commit that ktx review makes. Serves this machine only; the link lets in one browser, once.',
  examples: [
    ['ktx web --open', 'starts it and opens the browser'],
    ['ktx web --port 0 --read-only', 'on any free port; nothing can be decided'],
    ['ktx web --export site', 'the same for a documentation host: only what git has, no values'],
  ],
  define: (command) =>
    command
      .option('--port <number>', `port; 0 chooses one (default: ${defaultPort})`, parsePort)
      .option('--open', 'open the page in the browser')
      .option('--read-only', 'refuse every decision')
      .option('--export <folder>', 'write the pages as files in place of serving them'),
  async run({ options }, context) {
    const { port = defaultPort, open, readOnly } = options;
    if (options.export !== undefined) return exportTo(options.export, context);
    await serve({ port, opens: open === true, isReadOnly: readOnly === true }, context);
    return undefined;
  },
});

interface ServedPage {
  readonly port: number;
  readonly opens: boolean;
  readonly isReadOnly: boolean;
}

async function serve({ port, opens, isReadOnly }: ServedPage, context: CommandContext) {
  const { dir } = await context.project();
  const [{ readBuiltPage }, { openPageRunner }, { servePage }] = await Promise.all([
    import('../../page/built-page.ts'),
    import('../../page/run-for-page.ts'),
    import('../../../web/page-server.ts'),
  ]);
  const files = await readBuiltPage(context);
  const runner = openPageRunner(context, dir);
  try {
    await servePage({
      port,
      isReadOnly,
      files,
      project: basename(dir),
      run: runner.run,
      report: (entry) => appendToLog(dir, 'web', entry),
      signal: context.signal,
      onListening({ url, link }) {
        context.printNote(`The page is at ${link}`);
        context.printNote('The link lets in one browser, once. Ctrl+C ends it.');
        context.printEvent({ type: 'listening', url, link });
        if (opens) void showInBrowser(link, context);
        // Reads the datasets ahead of the first page; a failure is told to whoever asks.
        void runner.run(['status', '--fast'], { signal: context.signal }).catch(() => undefined);
      },
    });
  } finally {
    await runner.close();
  }
}

async function exportTo(folder: string, context: CommandContext): Promise<CommandResult> {
  const project = await context.project({ mayAsk: false });
  const [{ readBuiltPage }, { openPageRunner }, { exportPage }] = await Promise.all([
    import('../../page/built-page.ts'),
    import('../../page/run-for-page.ts'),
    import('../../../web/export-page.ts'),
  ]);
  const dir = resolve(context.host.cwd, folder);
  const files = await readBuiltPage(context);
  const runner = openPageRunner(context, project.dir);
  try {
    const written = await exportPage({
      dir,
      files,
      project: basename(project.dir),
      connections: project.warehouses,
      run: runner.run,
      signal: context.signal,
      onProgress: (done, total) => context.progress.update('writing pages', { done, total }),
    });
    const text = `wrote ${formatCount(written.length, 'file')} to ${folder}`;
    return { data: { dir, files: written }, verbatim: true, text };
  } finally {
    await runner.close();
  }
}

async function showInBrowser(link: string, context: CommandContext): Promise<void> {
  const { openInBrowser } = await import('../../page/open-in-browser.ts');
  if (!(await openInBrowser(link)))
    context.printNote('No browser could be opened: open the link yourself.');
}
