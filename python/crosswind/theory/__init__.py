"""Closed forms that measurements are compared with: functions of a few lines, each with the equation it stands for."""
