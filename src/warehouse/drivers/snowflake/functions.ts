import { readWordList } from '../../../lib/word-list.ts';

export const snowflakeFunctions = readWordList(new URL('functions.txt', import.meta.url));
