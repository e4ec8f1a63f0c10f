import { readWordList } from '../../../lib/word-list.ts';

export const clickhouseFunctions = readWordList(new URL('functions.txt', import.meta.url));
