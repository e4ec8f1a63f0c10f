import { createContext, Script } from 'node:vm';

/** How long one pattern may work on one text. */
const limitMs = 250;

const globals = createContext({ pattern: '', flags: '', text: '', replacement: '' });
const testScript = new Script('new RegExp(pattern, flags).test(text)');
const replaceScript = new Script('text.replace(new RegExp(pattern, flags), () => replacement)');

/**
 * Runs a regular expression that somebody else wrote. Some take for ever on some texts, and nothing
 * else on this thread could end them. Undefined if it took too long.
 */
function runPattern(script: Script, input: Readonly<Record<string, string>>): unknown {
  try {
    Object.assign(globals, input);
    return script.runInContext(globals, { timeout: limitMs });
  } catch (error) {
    // The error can be one of the other context, and then is no instance of this one's class.
    if (
      typeof error === 'object' &&
      error !== null &&
      'code' in error &&
      error.code === timeoutCode
    )
      return undefined;
    throw error;
  } finally {
    Object.assign(globals, { text: '' });
  }
}

const timeoutCode = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** True if the pattern matches, in any case of letters; undefined if it took too long. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  const isMatch = runPattern(testScript, { pattern, flags: 'iu', text });
  return isMatch === undefined ? undefined : isMatch === true;
}

/**
 * Replaces what matches one of the patterns. If one takes too long, it is not tried again, and
 * nothing of its text is kept.
 */
export function openRedactor(patterns: readonly string[]): (text: string) => string {
  const tooSlow = new Set<string>();
  const replacement = '[redacted]';
  const redact = (text: string, pattern: string): string => {
    if (tooSlow.has(pattern)) return replacement;
    const kept = runPattern(replaceScript, { pattern, flags: 'gu', text, replacement });
    if (typeof kept === 'string') return kept;
    tooSlow.add(pattern);
    return replacement;
  };
  return (text) => patterns.reduce(redact, text);
}
