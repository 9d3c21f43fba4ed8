// Stage 1 (spec A2): does this message ask for a tool of ours? A port, because a better detector will stand behind it.
// Whatever stands there sees configured metadata only, and says normal chat when it is not sure.
import type { RankedTool } from '../../workflows/domain/turn.js';

export interface DetectionQuery {
  text: string;
  /** Tools with a live context in this chat; a message that goes on about them is likelier to be meant for them. */
  recentTools: readonly string[];
}

/** Its reason is for the person who asks why, in the console and in the history. */
export type Candidate = RankedTool;

export interface Detection {
  /** Best first, all that come near the best; empty: normal chat. */
  candidates: Candidate[];
  /** Why nothing was flagged, where something might have been. */
  because: string;
}

export interface Detector {
  detect(query: DetectionQuery): Detection;
  /** The phrase by which a short message goes on about a result ("what about Sunday?"); absent: it doesn't, or is talk. */
  followUpIn(text: string): string | undefined;
}
