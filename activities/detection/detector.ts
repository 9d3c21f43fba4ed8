// Stage 1 (spec A2): does this message ask for a tool of ours? A port, because a better detector will stand behind it.
// Whatever stands there sees configured metadata only, and says normal chat when it is not sure.

export interface DetectionQuery {
  text: string;
  /** Tools with a live context in this chat; a message that goes on about them is likelier to be meant for them. */
  recentTools: readonly string[];
}

export interface Candidate {
  tool: string;
  score: number;
  /** For the person who asks why, in the console and in the history: matched words only, which come from the catalogue. */
  because: string;
}

export interface Detection {
  /** Best first; empty: normal chat. */
  candidates: Candidate[];
  /** Why nothing was flagged, where something might have been. */
  because: string;
}

export interface Detector {
  detect(query: DetectionQuery): Detection;
}
