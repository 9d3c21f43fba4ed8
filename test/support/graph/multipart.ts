// Reads `multipart/form-data` as far as uploads need it: parts by name, with their type.

export interface FormPart {
  contentType: string | undefined;
  content: Buffer;
}

export function readMultipart(contentType: string, body: Buffer): Map<string, FormPart> {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  const parts = new Map<string, FormPart>();
  if (boundary === undefined) return parts;
  const mark = Buffer.from(`--${boundary}`);
  for (let start = body.indexOf(mark); start !== -1;) {
    const end = body.indexOf(mark, start + mark.length);
    if (end === -1) break;
    // Between a line break after the mark and one before the next.
    const part = body.subarray(start + mark.length + 2, end - 2);
    const headEnd = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, headEnd).toString('utf8');
    const name = /name="([^"]*)"/.exec(head)?.[1];
    if (name !== undefined) {
      const type = /content-type:\s*([^\r\n]+)/i.exec(head)?.[1];
      parts.set(name, { contentType: type, content: Buffer.from(part.subarray(headEnd + 4)) });
    }
    start = end;
  }
  return parts;
}
