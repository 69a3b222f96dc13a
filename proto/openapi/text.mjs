// Comments of the .proto files as texts of the document, in CommonMark.

/** What a comment says about gRPC only. */
const GRPC_ONLY = [
  /The first message (names|gives) [^.]*\.\s*/,
  /\s*In the first message; later ones [^.]*\./,
  /\s*An answer may be larger than a gRPC client's [^:]*: [^.]*\./,
  /\s*Read from the first message\./,
  /\s*Over REST it is a WebSocket\./,
];

/** Lines of a paragraph as one line; paragraphs and lists stay apart. */
export function textOf(comment) {
  const joined = comment.replace(/([^\n])\n(?![-\n])/g, '$1 ');
  return GRPC_ONLY.reduce((text, pattern) => text.replace(pattern, ''), joined).trim();
}

/** The first sentence, without its full stop. */
export function firstSentence(text) {
  return /^(.*?)\.(?:\s|$)/s.exec(text)?.[1] ?? text;
}

/** A text with further sentences. */
export function withSentences(text, sentences) {
  return [text, ...sentences].filter((each) => each !== '').join(' ');
}
