import { readWordList } from '../../../lib/word-list.ts';

export const bigqueryFunctions = readWordList(new URL('functions.txt', import.meta.url));
