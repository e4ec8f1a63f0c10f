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

/** Lower case without accents, as the word lists are written. */
export function foldText(text: string): string {
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
