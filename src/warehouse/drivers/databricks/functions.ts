import { readWordList } from '../../../lib/word-list.ts';

export const databricksFunctions = readWordList(new URL('functions.txt', import.meta.url));
