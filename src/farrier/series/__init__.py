"""Time series: stamps, the calendar, a series in any form."""
