/** What the choice is stored under; it holds for this browser. */
const STORED = "sound";

export function soundIsOn(): boolean {
  try {
    return localStorage.getItem(STORED) === "on";
  } catch {
    return false;
  }
}

export function setSound(on: boolean): void {
  try {
    localStorage.setItem(STORED, on ? "on" : "off");
  } catch {
    // A store that is full or forbidden keeps nothing; the choice then holds until it is asked for again.
  }
}

/** Plays two short notes, made here: no file is fetched. A browser that was not clicked in yet stays silent. */
export function chime(): void {
  if (!("AudioContext" in window)) {
    return;
  }
  const audio = new AudioContext();
  const volume = audio.createGain();
  volume.connect(audio.destination);
  const end = audio.currentTime + 0.5;
  volume.gain.setValueAtTime(0.15, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, end);
  const notes = [660, 880].map((hertz, index) => {
    const note = audio.createOscillator();
    note.frequency.value = hertz;
    note.connect(volume);
    note.start(audio.currentTime + index * 0.15);
    note.stop(end);
    return note;
  });
  notes.at(-1)?.addEventListener("ended", () => void audio.close());
}
