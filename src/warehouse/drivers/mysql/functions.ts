import { readWordList } from '../../../lib/word-list.ts';

export const mysqlFunctions = readWordList(new URL('functions.txt', import.meta.url));
