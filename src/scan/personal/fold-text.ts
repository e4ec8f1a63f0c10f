const letters: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ß: 'ss',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ð: 'd',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ٱ: 'ا',
  ة: 'ه',
  ى: 'ي',
  ʼ: '',
  '’': '',
  "'": '',
};

const ascii = /^\p{ASCII}*$/u;

/** Lower case without accents, as the word lists are written. */
export function foldText(text: string): string {
  // Most text has no accents, and the rest costs ten times as much.
  if (ascii.test(text)) return text.toLowerCase().replaceAll("'", '');
  return text
    .normalize('NFD')
    .replaceAll(
      /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}])\p{M}+/gu,
      '',
    )
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[łøđßıæœþðأإآٱةىʼ’']/g, (letter) => letters[letter] ?? letter);
}
