/** A file that is to go with a prompt. `data` is base64. */
export interface Attached {
  name: string;
  bytes: number;
  data: string;
}

/** The same limits as the server's, so that nobody waits for an upload that is refused. */
export const FILES_MAX = 8;
export const FILES_BYTES_MAX = 8 << 20;

/** Reads files that were chosen, pasted or dropped, and says which cannot go. */
export async function attach(have: Attached[], chosen: File[]): Promise<{ files: Attached[]; refused?: string }> {
  const files = [...have];
  for (const file of chosen) {
    const bytes = files.reduce((sum, one) => sum + one.bytes, 0) + file.size;
    if (files.length >= FILES_MAX) {
      return { files, refused: `A prompt takes ${FILES_MAX} files; ${file.name} and what follows were left out.` };
    }
    if (bytes > FILES_BYTES_MAX) {
      return { files, refused: `The files of a prompt have 8 MiB together at most; ${file.name} was left out.` };
    }
    files.push({ name: file.name, bytes: file.size, data: await base64(file) });
  }
  return { files };
}

/** The part of a request that carries files, if there are any. */
export const withFiles = (files: Attached[] = []) =>
  files.length > 0 ? { files: files.map(({ name, data }) => ({ name, data })) } : {};

/** Returns what is in a file, in base64. */
function base64(file: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onerror = () => failed(reader.error ?? new Error("the file cannot be read"));
    reader.onload = () => {
      const address = typeof reader.result === "string" ? reader.result : "";
      done(address.slice(address.indexOf(",") + 1));
    };
    reader.readAsDataURL(file);
  });
}

/** What the transcript tells of a file that came with a prompt. */
export interface SentFile {
  name: string;
  media_type: string;
  bytes: number;
}

/** Reads the files of a prompt from its message's detail, which may be anything. */
export function sentFiles(detail: unknown): SentFile[] {
  if (typeof detail !== "object" || detail === null || !("files" in detail) || !Array.isArray(detail.files)) {
    return [];
  }
  return detail.files.filter(
    (one: unknown): one is SentFile =>
      typeof one === "object" &&
      one !== null &&
      "name" in one &&
      typeof one.name === "string" &&
      "media_type" in one &&
      typeof one.media_type === "string" &&
      "bytes" in one &&
      typeof one.bytes === "number",
  );
}

/** Hands a file to the browser to keep. It is never shown in the page: what is in it may be anything. */
export function save(name: string, data: string) {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
