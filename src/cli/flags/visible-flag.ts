/** For programs that show the project to others. */
export const visibleFlag = [
  '--visible',
  'as callers of the server see it: without what is hidden, row rules and numbers of others',
] as const;
