import { createRequire } from 'node:module';

/**
 * Path of the Claude Code program that ships with the Agent SDK; undefined if there is none for
 * this platform.
 */
export function bundledProgram(): string | undefined {
  // Not by a require, which does not look into the extras.
  const resolver = createRequire(import.meta.resolve('@anthropic-ai/claude-agent-sdk'));
  const file = process.platform === 'win32' ? 'claude.exe' : 'claude';
  const packageName = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
  const packages = [packageName, `${packageName}-musl`];
  for (const name of usesMusl() ? packages.toReversed() : packages) {
    try {
      return resolver.resolve(`${name}/${file}`);
    } catch {
      // Not installed for this platform.
    }
  }
  return undefined;
}

function usesMusl(): boolean {
  if (process.platform !== 'linux') return false;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined;
}
