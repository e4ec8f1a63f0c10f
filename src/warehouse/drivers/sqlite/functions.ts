import { readWordList } from '../../../lib/words.ts';

export const sqliteFunctions = readWordList(new URL('functions.txt', import.meta.url));
