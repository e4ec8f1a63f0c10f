/** For decisions, where `serve.changes` asks for requests. */
export const commitFlag = [
  '--commit',
  'commit in this folder, also where serve.changes asks for a request',
] as const;
