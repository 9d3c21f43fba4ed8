// What the platform takes, by type and size (Cloud API, supported media types). Anything else goes as a document.

export type MediaKind = 'image' | 'audio' | 'video' | 'sticker' | 'document';

const MEGABYTE = 1024 * 1024;

const TAKEN: Record<Exclude<MediaKind, 'document'>, { types: string[]; bytes: number }> = {
  image: { types: ['image/jpeg', 'image/png'], bytes: 5 * MEGABYTE },
  audio: {
    types: ['audio/aac', 'audio/amr', 'audio/mpeg', 'audio/mp4', 'audio/ogg'],
    bytes: 16 * MEGABYTE,
  },
  video: { types: ['video/mp4', 'video/3gpp'], bytes: 16 * MEGABYTE },
  sticker: { types: ['image/webp'], bytes: 500 * 1024 },
};

/** The platform takes documents up to 100 MB; they pass through our memory and our database, so we take less. */
export const LARGEST_MEDIA_BYTES = 32 * MEGABYTE;

/** `audio/ogg; codecs=opus` is `audio/ogg`. */
export function plainMimeType(mimeType: string): string {
  return (mimeType.split(';')[0] ?? '').trim().toLowerCase();
}

/** As what these bytes can be sent. Undefined: they are too large for any. */
export function mediaKindOf({ mimeType, bytes }: { mimeType: string; bytes: number }): MediaKind | undefined {
  const type = plainMimeType(mimeType);
  for (const kind of ['image', 'audio', 'video', 'sticker'] as const) {
    if (TAKEN[kind].types.includes(type) && bytes <= TAKEN[kind].bytes) return kind;
  }
  return bytes <= LARGEST_MEDIA_BYTES ? 'document' : undefined;
}
