/** What a fetch gets that records nothing; `known` are the keys that the project has. */
export function fetchContext(token: string, known: readonly string[] = []) {
  return {
    connection: 'wiki',
    projectDir: '/nowhere',
    cacheDir: '/nowhere',
    secrets: () => token,
    memory: { keys: new Set(known), has: () => false, isKnown: () => false },
    longestWait: 1000,
    onWait: () => undefined,
    signal: AbortSignal.timeout(20_000),
  };
}
