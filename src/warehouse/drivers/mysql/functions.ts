import { readWordList } from '../../../lib/words.ts';

export const mysqlFunctions = readWordList(new URL('functions.txt', import.meta.url));
