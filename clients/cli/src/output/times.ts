export const timeText = (time: Date | undefined): string => time?.toISOString().replace('T', ' ').slice(0, 16) ?? '';
