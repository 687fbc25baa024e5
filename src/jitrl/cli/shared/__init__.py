"""What several commands take and show: options, tables, progress and where output goes."""
