"""How strong evidence is: differences of log evidence, in nats, wherever evidence decides.

The steps are those of Kass and Raftery (1995): odds of 3, 20 and 150 to 1.
"""

WEAK = 1.0
"""Evidence below which it is hardly worth a mention. [nats; Kass and Raftery, 1995]"""
STRONG = 3.0
"""Strong evidence. [nats; Kass and Raftery, 1995]"""
VERY_STRONG = 5.0
"""Very strong evidence: what speaks against noise alone or a random walk, and for what was looked for among much: a
cycle, a change, two regimes, a curve, a rough component, outliers. [nats; Kass and Raftery, 1995]"""
HOPELESS = 6.0
"""How far below the best one a change, or a scale of the target, is not fitted further. [nats; measured for starts on
122 series, of which one became the best from further below]"""
CHANCE = 8.0
"""What chance alone can favour the best of many by: a structure among some 200, and a heavy tail among many residuals.
[nats; measured on 178 series: from 8 to 12, log score and MASE are the same]"""
PRICE = 2.0
"""What a factor costs, with its parameters and its choice, before a fit. [nats; a trial on series]"""
