/** What the page's style sheets give a chart, so that its file looks the same without them. */
const looks = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-linejoin',
  'font-family',
  'font-size',
  'text-anchor',
];

/** The chart by itself, in the colours that it has on the page. */
export function toSvgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const copies = copy.querySelectorAll('*');
  for (const [index, part] of svg.querySelectorAll('*').entries()) {
    const style = getComputedStyle(part);
    for (const look of looks) copies[index]?.setAttribute(look, style.getPropertyValue(look));
  }
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  return new XMLSerializer().serializeToString(copy);
}

/** Dots of the file for each of the drawing, as on a fine screen. */
const density = 2;

/** The chart as it is on the page, on the page's background. Undefined if it cannot be drawn. */
export async function toPng(svg: SVGSVGElement): Promise<Blob | undefined> {
  const { width, height } = svg.viewBox.baseVal;
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(toSvgText(svg))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [width * density, height * density];
  const drawing = canvas.getContext('2d');
  if (drawing === null) return undefined;
  drawing.fillStyle = getComputedStyle(document.body).backgroundColor;
  drawing.fillRect(0, 0, canvas.width, canvas.height);
  drawing.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), 'image/png'));
}

export function saveAs(name: string, content: Blob | string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
