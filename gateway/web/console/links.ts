// Addresses of what pages point at.

/** So many later messages are on the page of a message that is pointed at. */
const AFTER = 20;

/** The page of the conversation that holds this message, scrolled to it. Without a sequence it was never sent: the newest page. */
export function linkToMessage(message: {
  chatId: string;
  /** The id of its row. */
  id: string;
  sequence: number | undefined;
}): string {
  const { chatId, id, sequence } = message;
  const page = sequence === undefined ? '' : `?before=${sequence + AFTER}`;
  return `/console/conversations/${chatId}${page}#message-${id}`;
}
