import { readWordList } from '../../../lib/word-list.ts';

export const redshiftFunctions = readWordList(new URL('functions.txt', import.meta.url));
