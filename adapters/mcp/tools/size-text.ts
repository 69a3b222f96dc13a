const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

export function sizeText(bytes: number): string {
  const unit = bytes <= 0 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), UNITS.length - 1);
  return unit === 0 ? `${bytes} B` : `${(bytes / 1024 ** unit).toFixed(2)} ${UNITS[unit]}`;
}
