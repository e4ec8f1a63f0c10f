import { readWordList } from '../../../lib/word-list.ts';

export const sqliteFunctions = readWordList(new URL('functions.txt', import.meta.url));
