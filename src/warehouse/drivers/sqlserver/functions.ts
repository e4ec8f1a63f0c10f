import { readWordList } from '../../../lib/word-list.ts';

export const sqlserverFunctions = readWordList(new URL('functions.txt', import.meta.url));
