import { readWordList } from '../../../lib/word-list.ts';

export const trinoFunctions = readWordList(new URL('functions.txt', import.meta.url));
