import { readWordList } from '../../../lib/word-list.ts';

export const duckdbFunctions = readWordList(new URL('functions.txt', import.meta.url));
